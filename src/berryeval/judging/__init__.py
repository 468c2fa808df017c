"""Judging: who gave which grade, what is left to judge, and how far a judge can be trusted."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.judging.chat import ChatModel, Message, Reply
    from berryeval.judging.decisions import Decision, DecisionRule, apply_decisions, decide
    from berryeval.judging.ledger import Ledger, Vote, key_of, name_place
    from berryeval.judging.pool import Pair, Pool, make_pair_id
else:
    __getattr__, __dir__ = open_door(__name__)
