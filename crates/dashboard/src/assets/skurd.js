// Keeps the figures of a page fresh. Every page is complete without it.
"use strict";

(() => {
  const POINTS_MAX = 120;
  const LATEST_MAX = 12;
  const WIDTH = 240;
  const HEIGHT = 48;

  // Where the menu scrolls, the entry of this page is seen.
  document.querySelector(".bar nav [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });

  const isTyping = (element) => element.matches("input, textarea, select, [contenteditable]");
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
    event.preventDefault();
    document.getElementById("find")?.focus();
  });

  // A list can come from a file, too.
  const FILE_BYTES_MAX = 900_000;
  for (const label of document.querySelectorAll("[data-file]")) {
    const input = label.querySelector("input");
    const area = document.getElementById(label.dataset.file);
    label.hidden = false;
    input.addEventListener("change", async () => {
      const file = input.files[0];
      const isLarge = file && file.size > FILE_BYTES_MAX;
      input.setCustomValidity(isLarge ? "This file is too large: use skurd import urls" : "");
      if (isLarge) input.reportValidity();
      else if (file) area.value = await file.text();
    });
  }

  const live = document.querySelector("[data-live]");
  if (!live || !window.EventSource) return;

  const grouped = (value) => String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, "\u202F");

  const bytes = (value) => {
    const units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let unit = 0;
    while (value >= 999.95 && unit + 1 < units.length) {
      value /= 1000;
      unit += 1;
    }
    return unit === 0 ? `${Math.round(value)} B` : `${value.toFixed(1)} ${units[unit]}`;
  };

  const percent = (share) => {
    const value = share * 100;
    return value < 100 && value > 99.9 ? "99.9 %" : `${value.toFixed(1)} %`;
  };

  const written = {
    harvests_per_second: (figures) => figures.harvests_per_second.toFixed(1),
    bytes_per_second: (figures) => bytes(figures.bytes_per_second),
    total_bytes: (figures) => bytes(figures.total_bytes),
    total_saved_bytes: (figures) => bytes(figures.total_saved_bytes),
    on_time: (figures) => (figures.on_time === null ? "\u2013" : percent(figures.on_time)),
  };

  const tell = (figures) => {
    for (const element of document.querySelectorAll("[data-figure]")) {
      const name = element.dataset.figure;
      if (!(name in figures)) continue;
      const text = written[name] ? written[name](figures) : grouped(figures[name]);
      if (element.textContent !== text) element.textContent = text;
    }
  };

  const path = (values, top, closed) => {
    const most = Math.max(top ?? Math.max(...values, 0), 1e-9);
    const x = (place) => WIDTH - ((values.length - 1 - place) * WIDTH) / (POINTS_MAX - 1);
    const y = (value) => HEIGHT - 2 - Math.min(value / most, 1) * (HEIGHT - 4);
    const steps = values.map((value, place) => `${place ? "L" : "M"}${x(place).toFixed(1)} ${y(value).toFixed(1)}`);
    if (closed && values.length) steps.push(`L${WIDTH} ${HEIGHT}L${x(0).toFixed(1)} ${HEIGHT}Z`);
    return steps.join("");
  };

  const sparks = [...document.querySelectorAll("[data-spark]")].map((element) => ({
    element,
    name: element.dataset.spark,
    top: element.dataset.top === undefined ? undefined : Number(element.dataset.top),
    values: element.dataset.values.split(" ").filter(Boolean).map(Number),
  }));

  const draw = (figures) => {
    for (const spark of sparks) {
      spark.values.push(Number(figures[spark.name]) || 0);
      if (spark.values.length > POINTS_MAX) spark.values.shift();
      spark.element.querySelector(".area").setAttribute("d", path(spark.values, spark.top, true));
      spark.element.querySelector(".stroke").setAttribute("d", path(spark.values, spark.top, false));
    }
  };

  // What a reader could not see is written as its code point.
  const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
  const visible = (text) =>
    text.slice(0, 300).replace(hidden, (c) => `U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`);

  const latest = document.querySelector("[data-latest]");
  const seen = (harvest) => {
    if (!latest) return;
    latest.querySelector(".faint:only-child")?.remove();
    const item = document.createElement("li");
    const word = document.createElement("span");
    const kind = harvest.status === null ? "grey" : { 2: "good", 3: "calm", 4: "warn", 5: "bad" }[Math.floor(harvest.status / 100)];
    word.className = `badge ${kind ?? "plain"}`;
    word.textContent = visible(String(harvest.status ?? harvest.error ?? "–"));
    const link = document.createElement("a");
    link.href = `/inspect?url=${encodeURIComponent(harvest.url)}`;
    const text = document.createElement("bdi");
    text.textContent = visible(harvest.url);
    link.append(text);
    item.append(word, " ", link);
    latest.prepend(item);
    while (latest.children.length > LATEST_MAX) latest.lastElementChild.remove();
  };

  const stream = new EventSource("/api/v1/events");
  stream.addEventListener("open", () => (live.hidden = false));
  stream.addEventListener("error", () => (live.hidden = true));
  stream.addEventListener("figures", (event) => {
    const figures = JSON.parse(event.data);
    tell(figures);
    draw(figures);
  });
  stream.addEventListener("harvest", (event) => {
    // Where somebody reads or tabs through the list, it stands still.
    if (latest && !latest.matches(":focus-within, :hover")) seen(JSON.parse(event.data));
  });
  window.addEventListener("pagehide", () => stream.close());
})();
