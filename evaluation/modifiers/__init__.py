"""What an arm may do differently: small objects that are put on a plain arm, and how a command line names them."""
