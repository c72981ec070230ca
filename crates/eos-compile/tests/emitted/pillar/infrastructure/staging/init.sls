#!yaml
# Pillar of the environment staging. Yours to edit; eos writes files of its own beside it.
{}
