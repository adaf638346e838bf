"""Watch a deployment in service: audits of its answers, their labels, alarms, and the status."""
