"""What the site needs besides its pages."""
