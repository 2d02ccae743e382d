"""What everything needs, once.

fields     validated hyper-parameters
seeds      explicit, validated seeds
files      whole-or-nothing files
signals    a clean end on SIGTERM and SIGHUP
jobs       one queue for threads, processes and Dask clusters
store      finished work in a file, used again by the next run
sources    a digest of the sources that make numbers, which stores are keyed on
progress   bars, or plain lines where there is no terminal
terminal   one console, one kind of table
"""
