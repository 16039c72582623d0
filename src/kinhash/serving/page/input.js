// Pictures by file dialogue, by drop and by paste, all to one function.

export function takePictures({ button, file, veil, target = document, take, refuse }) {
  const first = (files) => {
    const picture = [...files].find((one) => one.type.startsWith("image/") || one.type === "");
    if (picture) take(picture);
    else if (files.length) refuse(`${files[0].name} is no picture.`);
  };

  button.addEventListener("click", () => file.click());
  file.addEventListener("change", () => {
    first(file.files);
    file.value = ""; // the same file may be chosen again
  });

  let inside = 0; // dragenter and dragleave come for every element on the way
  const holdsFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  target.addEventListener("dragenter", (event) => {
    if (!holdsFiles(event)) return;
    inside += 1;
    veil.hidden = false;
  });
  target.addEventListener("dragleave", (event) => {
    if (!holdsFiles(event)) return;
    inside = Math.max(0, inside - 1);
    veil.hidden = inside === 0;
  });
  target.addEventListener("dragover", (event) => {
    if (holdsFiles(event)) event.preventDefault();
  });
  target.addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    inside = 0;
    veil.hidden = true;
    first(event.dataTransfer.files);
  });
  target.addEventListener("paste", (event) => {
    if (event.clipboardData?.files.length) {
      event.preventDefault();
      first(event.clipboardData.files);
    }
  });
}
