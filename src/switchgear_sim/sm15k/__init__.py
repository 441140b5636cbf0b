"""A simulated SeaMicro SM15K: pure model, fault deck and audit, with a thin HTTP shell."""
