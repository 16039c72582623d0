"""An index as a web server with a gallery page, and a client with the face of `Index`."""
