"use strict";
// What belongs together lights up: buffers, their names, and the instructions that use them.

const KINDS = { a: "an argument", c: "captured", g: "a gradient from before", r: "a result", m: "in tiles" };

function wire(article) {
  const detail = article.querySelector(".detail");
  const hint = detail.textContent;
  const plot = article.querySelector(".plot");
  const cursor = article.querySelector(".cursor");
  const instructions = [...article.querySelectorAll(".instruction")];
  const memories = [...article.querySelectorAll("[data-slot]")];
  let kept = null; // by a click
  let clicked = ""; // where: what a scroll moves below the mouse is not pointed at

  const uses = (instruction) => instruction.dataset.uses.split(" ");
  const users = (slot) => instructions.filter((each) => uses(each).includes(slot));

  function related(target) {
    if (!target) return [];
    if (!("slot" in target.dataset)) {
      const used = uses(target);
      const isNear = (each) => each.closest(".plot") || target.contains(each);
      return [target, ...memories.filter((each) => used.includes(each.dataset.slot) && isNear(each))];
    }
    const { slot } = target.dataset;
    return [...memories.filter((each) => each.dataset.slot === slot), ...users(slot)];
  }

  function described(target) {
    if (!("slot" in target.dataset)) {
      const why = target.closest(".step").querySelector(".head").title;
      return target.querySelector("code").textContent + (why && ` · the step ${why}`);
    }
    const buffer = plot?.querySelector(`[data-slot="${target.dataset.slot}"]`);
    const count = users(target.dataset.slot).length;
    const name = target.textContent;
    const text = buffer ? buffer.querySelector("title").textContent : `${name} is ${KINDS[name[0]]}`;
    return `${text.replaceAll("\n", " · ")} · used by ${count} instruction${count === 1 ? "" : "s"}`;
  }

  function light(target) {
    for (const each of article.querySelectorAll(".lit")) each.classList.remove("lit");
    for (const each of related(target)) each.classList.add("lit");
    article.classList.toggle("focused", target !== null);
    detail.textContent = target ? described(target) : hint;
    if (!cursor) return;
    const step = target?.dataset.step;
    cursor.style.visibility = step === undefined ? "hidden" : "visible";
    if (step !== undefined) cursor.setAttribute("x", `${(100 * step) / plot.dataset.steps}%`);
  }

  function keep(target) {
    kept = target === kept ? null : target;
    light(kept);
    if (!kept?.closest(".plot")) return;
    const [first] = users(kept.dataset.slot);
    const top = cursor.closest(".arena").getBoundingClientRect();
    const isSticky = getComputedStyle(cursor.closest(".arena")).position === "sticky";
    first.style.scrollMarginTop = `${isSticky ? top.height + 12 : 12}px`;
    first.scrollIntoView({ block: isSticky ? "start" : "nearest" });
  }

  const targetOf = (event) => event.target.closest?.("[data-slot], .instruction") ?? null;
  // Whole pixels, as a click has them.
  const placeOf = (event) => `${Math.floor(event.screenX)} ${Math.floor(event.screenY)}`;
  article.addEventListener("pointerover", (event) => {
    if (placeOf(event) !== clicked) light(targetOf(event) ?? kept);
  });
  article.addEventListener("pointerleave", () => light(kept));
  article.addEventListener("focusin", (event) => {
    if (event.target.matches(":focus-visible")) light(targetOf(event) ?? kept);
  });
  article.addEventListener("click", (event) => {
    const target = targetOf(event);
    clicked = placeOf(event);
    if (target) keep(target);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") keep(kept);
    if (event.key === "Enter" && article.contains(event.target)) keep(targetOf(event));
  });

  // A name is only shown where all of it fits.
  const fit = () => {
    for (const text of article.querySelectorAll(".buffer text")) {
      text.style.display = "";
      const room = text.parentNode.querySelector("rect").getBoundingClientRect().width - 8;
      if (text.getComputedTextLength() > room) text.style.display = "none";
    }
  };
  if (plot) new ResizeObserver(fit).observe(plot);
}

document.querySelectorAll("article").forEach(wire);
