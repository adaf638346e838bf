"""A run in other people's formats. Each writes what its format has room for, and says what was left out."""
