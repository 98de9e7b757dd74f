"""Statistics of interval data without a server: functions that people call."""
