"""Programs as operators (`proxy_tensor`), and modules made faster for inference (`optimization`)."""
