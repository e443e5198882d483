const FIELDS = 'input, textarea, select';

const edited = new WeakSet<EventTarget>();

/** Remembers which fields a person has edited. */
export function followEdits(): void {
  document.addEventListener('input', ({ target }) => {
    if (target !== null) edited.add(target);
  });
}

/** Whether the page has a field that was edited. */
export function hasEdits(): boolean {
  const fields = document.querySelectorAll<HTMLInputElement>(`#main :is(${FIELDS})`);
  return [...fields].some((field) => edited.has(field) && field.value !== '');
}
