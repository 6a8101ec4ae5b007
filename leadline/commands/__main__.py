"""`python -m leadline.commands` is the `leadline` command."""

from leadline.commands import main

main()
