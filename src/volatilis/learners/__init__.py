"""Algorithms, one per file, each written once for all families."""

from volatilis.learners.exact_bayes import ExactBayes
from volatilis.learners.leaky import Leaky
from volatilis.learners.merge import Merge
from volatilis.learners.message_passing import MessagePassing
from volatilis.learners.nas10 import Nas10, Nas10Star
from volatilis.learners.nas12 import Nas12, Nas12Star
from volatilis.learners.particle_filter import ParticleFilter
from volatilis.learners.smile import SMiLe
from volatilis.learners.stratified_resampling import StratifiedResampling
from volatilis.learners.varsmile import VarSMiLe

__all__ = [
    "ExactBayes",
    "Leaky",
    "Merge",
    "MessagePassing",
    "Nas10",
    "Nas10Star",
    "Nas12",
    "Nas12Star",
    "ParticleFilter",
    "SMiLe",
    "StratifiedResampling",
    "VarSMiLe",
]
