"""``switchgear demo``: the story that Switchgear exists for, played with real processes and judged."""
