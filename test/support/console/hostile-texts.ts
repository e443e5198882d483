/** Texts that become something else where a page does not treat them as text. `pwned` would be set. */
export const HOSTILE_TEXTS: readonly string[] = [
  '<img src=x onerror="pwned=1">',
  '"><svg onload="pwned=1"><script>pwned=1</script>',
  '</textarea></title></style><iframe srcdoc="<script>top.pwned=1</script>">',
  'javascript:pwned=1',
  'data:text/html,<script>pwned=1</script>',
  '[link](javascript:pwned=1) ![image](https://evil.test/x.png) <https://evil.test>',
  "{{constructor.constructor('pwned=1')()}} `pwned=1`",
  "' autofocus onfocus='pwned=1",
  '//evil.test/\\evil.test/https://evil.test/',
  'delete \u202egnp.exe\u202c \u2066x\u2069 \u200b\u200d\ufeff',
  'bell \u0007 escape \u001b[31m nul \u0000 del \u007f \u0085 \u2028\u2029',
  '__proto__',
  `long ${'x'.repeat(5000)}`,
];

/** All of them as one text. */
export const HOSTILE_TEXT = HOSTILE_TEXTS.join(' ');

/**
 * Elements of a page that the texts have created; empty if they are text. The page itself has its
 * module script, its style sheet, and its own images.
 */
export const FIND_INJECTED = `(() => {
  const found = [];
  if ('pwned' in window) found.push('a script has run');
  for (const element of document.querySelectorAll('*')) {
    const name = element.localName;
    const isForeign = ['iframe', 'object', 'embed', 'base', 'img', 'foreignobject'].includes(name);
    if (isForeign) found.push(name);
    if (name === 'script' && !element.src.startsWith(location.origin + '/console/assets/')) found.push(name);
    for (const { name: attribute, value } of element.attributes) {
      if (attribute.startsWith('on')) found.push(name + ' ' + attribute);
      const isUrl = ['href', 'src', 'action', 'formaction', 'xlink:href', 'srcdoc'].includes(attribute);
      if (!isUrl || value.startsWith('#') || element.rel === 'icon') continue;
      const url = new URL(value, location.href);
      if (url.origin !== location.origin) found.push(name + ' ' + attribute + ' ' + value.slice(0, 80));
    }
  }
  if (Object.keys({}.__proto__).length > 0) found.push('a prototype has changed');
  return found;
})()`;

/** The elements that are wider than the window, except inside of what scrolls by itself. */
export const FIND_WIDE = `(() => {
  const isWide = (one) => one.getBoundingClientRect().right > innerWidth + 1;
  const scrolls = (one) => one !== document.body && getComputedStyle(one).overflowX !== 'visible';
  const isFree = (one) => one === document.body || (!scrolls(one) && isFree(one.parentElement));
  const wide = [...document.body.querySelectorAll('*')].filter((one) => isWide(one) && isFree(one.parentElement));
  const page = document.documentElement.scrollWidth > innerWidth ? ['the page'] : [];
  return [...page, ...wide.map((one) => one.localName + '.' + one.getAttribute('class'))].slice(0, 12);
})()`;

/** Replaces each text of a JSON value, except under these keys. */
export function makeHostile(value: unknown, unchanged: ReadonlySet<string>, key = ''): unknown {
  if (typeof value === 'string') return unchanged.has(key) ? value : `${value} ${HOSTILE_TEXT}`;
  if (Array.isArray(value)) return value.map((item) => makeHostile(item, unchanged, key));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    makeHostile(member, unchanged, name),
  ]);
  return Object.fromEntries(members);
}
