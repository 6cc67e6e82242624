"""The command line: the only room that joins the others. One file a verb."""
