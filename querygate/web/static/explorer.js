// The description of the API, to be tried out. The key that is typed in stays in the page and is gone with it.
"use strict";

const place = document.getElementById("explorer");

window.SwaggerUIBundle({
  url: place.dataset.description,
  domNode: place,
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  validatorUrl: null,
});
