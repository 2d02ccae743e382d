"""Looking back (`changes`): where a sequence changed; ringing: alarm rules, and calibration of their rate of false alarms."""

from volatilis.changepoints.alarm_files import AlarmFile, load_alarms, save_alarms
from volatilis.changepoints.alarms import Alarm, AlarmRule, Bell, KeyedAlarms, Rate
from volatilis.changepoints.blocks import Change
from volatilis.changepoints.calibration import Calibration, calibrate
from volatilis.changepoints.looking_back import Changes, changes
from volatilis.changepoints.thresholds import CalibrationError

__all__ = [
    "Alarm",
    "AlarmFile",
    "AlarmRule",
    "Bell",
    "Calibration",
    "CalibrationError",
    "Change",
    "Changes",
    "KeyedAlarms",
    "Rate",
    "calibrate",
    "changes",
    "load_alarms",
    "save_alarms",
]
