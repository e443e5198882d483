/** A script: the words of at most 14 letters that the page breaks over lines. */
export const FIND_BROKEN_WORDS = `(() => {
  const broken = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.parentElement.closest('pre, code, .hidden, .clip, script, style')) continue;
    for (const { 0: word, index } of node.data.matchAll(/[A-Za-z]{2,14}/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const tops = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
      if (tops.size > 1) broken.push(word);
    }
  }
  return broken;
})()`;

/** A script: what is wrong with the element that has the focus; \`null\` if it can be seen. */
export const FIND_FOCUS_FAULT = `(() => {
  const element = document.activeElement;
  if (element === document.body) return null;
  const name = element.outerHTML.slice(0, 120);
  const { left, right, top, bottom, width, height } = element.getBoundingClientRect();
  if (width < 4 || height < 4) return name + ' is not visible';
  if (left < -1 || right > innerWidth + 1) return name + ' is beside the screen';
  if (bottom < 1 || top > innerHeight - 1) return name + ' is above or below the screen';
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  if (outlineStyle === 'none' || outlineWidth === '0px') return name + ' has no outline';
  const x = (Math.max(left, 0) + Math.min(right, innerWidth)) / 2;
  const y = (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2;
  const shown = document.elementFromPoint(x, y);
  return element.contains(shown) || shown?.contains(element) || shown?.closest('label')?.contains(element)
    ? null
    : name + ' is covered by ' + shown?.outerHTML.slice(0, 80);
})()`;
