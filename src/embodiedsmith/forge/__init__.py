"""How a scenario is made: language, agents, layout, critics, and the loop that lets code accept what an agent proposes."""
