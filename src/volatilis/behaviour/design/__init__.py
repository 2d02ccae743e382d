"""Planning an experiment: how many people and trials it takes, and which outcomes to show."""

from volatilis.behaviour.design.power import Power, power, smallest
from volatilis.behaviour.design.request import DesignRequest, DesignResult, design
from volatilis.behaviour.design.sequences import Chosen, choose
from volatilis.behaviour.design.setting import Setting

__all__ = ["Chosen", "DesignRequest", "DesignResult", "Power", "Setting", "choose", "design", "power", "smallest"]
