"""Files of many formats into documents; hostile ones cost a child process, never this one."""
