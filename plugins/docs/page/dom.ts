type Child = Node | string | null | undefined;

type Properties = Readonly<Record<string, string | boolean | undefined>>;

/** Creates an element; texts are never parsed as HTML. */
export function create<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Properties,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children) {
    if (child !== null && child !== undefined) element.append(child);
  }
  return element;
}

/** A section whose content is created when it is opened for the first time. */
export function createDetails(
  summary: readonly Child[],
  createContent: () => readonly Child[],
  attributes: Properties = {},
): HTMLDetailsElement {
  const details = create('details', attributes, create('summary', {}, ...summary));
  let isEmpty = true;
  details.addEventListener('toggle', () => {
    if (!details.open || !isEmpty) return;
    isEmpty = false;
    for (const child of createContent()) {
      if (child !== null && child !== undefined) details.append(child);
    }
  });
  return details;
}

let lastId = 0;

/** A label and its control, joined by an id. */
export function createField(label: string, control: HTMLElement, hint = ''): HTMLElement {
  lastId += 1;
  control.id = `field-${lastId}`;
  const text = hint === '' ? null : create('span', { class: 'hint' }, hint);
  return create(
    'div',
    { class: 'field' },
    create('label', { for: control.id }, label),
    control,
    text,
  );
}

export function createParagraphs(text: unknown): HTMLElement[] {
  if (typeof text !== 'string') return [];
  return text
    .split(/\n\s*\n/)
    .filter((part) => part.trim() !== '')
    .map((part) => create('p', {}, part.trim()));
}
