"""Turns nearfar results files into figures and one self-contained HTML page.

Run as ``python3 -m nearfar_report FILE...``; ``nearfar report`` does just that.
"""
