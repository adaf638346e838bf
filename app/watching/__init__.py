"""The watch on a deployment in service: audits drawn from its answers, their labels, alarms, and the status."""
