"""What a rate would be by human labels: drawing the few to be made, their agreement, and correction by them."""
