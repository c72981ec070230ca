#!yaml
# Pillar of every environment. Yours to edit; eos writes files of its own beside it.
{}
