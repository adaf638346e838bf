"""Does one unsupported claim stand beside another more often than chance? Dependence is measured, never contagion."""
