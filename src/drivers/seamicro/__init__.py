"""The SeaMicro SM15K by its REST API v2.0, through python-seamicroclient."""
