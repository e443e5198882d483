// A module of kind `local`: the default export answers each operation with {status, headers, body}.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const MAX_TITLE_CHARACTERS = 200;
const MAX_TEXT_CHARACTERS = 10_000;

/** The defaults of the manifest, until the host delivers the values. */
let config = { 'notes/max_notes': 1000, 'notes/order': 'oldest_first' };

/** Called at the start and after each configuration write. */
export async function configure({ values }) {
  config = values;
}

const ROUTES = {
  'GET /notes': listNotes,
  'POST /notes': createNote,
  'GET /notes/{id}': readNote,
  'PUT /notes/{id}': replaceNote,
  'PATCH /notes/{id}': patchNote,
  'DELETE /notes/{id}': deleteNote,
};

const ACTIONS = {
  add: ({ input }, context) => createNote({ body: input }, context),
  purge: purgeNotes,
};

export default async function answer(operation, context) {
  switch (operation.kind) {
    case 'admin_list':
      return listPage(operation, context);
    case 'admin_action':
      return ACTIONS[operation.action](operation, context);
    default:
      return ROUTES[`${operation.method} ${operation.declaredPath}`](operation, context);
  }
}

async function listNotes({ query }, { stateDir }) {
  const { notes } = await readBook(stateDir);
  const wanted = (query.get('q') ?? '').toLowerCase();
  const found = notes.filter((note) => matches(note, wanted));
  return { status: 200, body: inOrder(found) };
}

/** One page for the console; the cursor is the last id of the page before. */
async function listPage({ limit, cursor }, { stateDir }) {
  const { notes } = await readBook(stateDir);
  const rest = notes.map(toRecord).filter(({ id }) => id > Number(cursor ?? 0));
  const records = rest.slice(0, limit);
  const next_cursor = rest.length > limit ? String(records.at(-1).id) : null;
  return { status: 200, body: { records, next_cursor } };
}

function toRecord({ id, title, text }) {
  return { id: Number(id), title, text };
}

function purgeNotes({ input }, { stateDir }) {
  return changeBook(stateDir, (book) => {
    const kept = book.notes.filter(({ title }) => title !== input.title);
    const found = book.notes.length - kept.length;
    if (!input.dry_run) book.notes = kept;
    return { status: 200, body: { found, deleted: input.dry_run ? 0 : found } };
  });
}

async function readNote({ pathParams }, { stateDir }) {
  const { notes } = await readBook(stateDir);
  const note = notes.find(({ id }) => id === pathParams.id);
  return note ? { status: 200, body: note } : notFound();
}

function createNote({ body }, { stateDir }) {
  const problem = validate(body, { isPartial: false });
  if (problem) return reject(problem);
  return changeBook(stateDir, (book) => {
    if (book.notes.length >= config['notes/max_notes']) return reject('the book is full');
    const note = { id: String(book.next), title: body.title, text: body.text ?? '' };
    book.next += 1;
    book.notes.push(note);
    return { status: 201, body: note };
  });
}

function replaceNote({ pathParams, body }, { stateDir }) {
  const problem = validate(body, { isPartial: false });
  if (problem) return reject(problem);
  return changeNote(stateDir, pathParams.id, () => ({ title: body.title, text: body.text ?? '' }));
}

function patchNote({ pathParams, body }, { stateDir }) {
  const problem = validate(body, { isPartial: true });
  if (problem) return reject(problem);
  return changeNote(stateDir, pathParams.id, (note) => ({ ...note, ...body }));
}

function deleteNote({ pathParams }, { stateDir }) {
  return changeBook(stateDir, (book) => {
    const index = book.notes.findIndex(({ id }) => id === pathParams.id);
    if (index === -1) return notFound();
    book.notes.splice(index, 1);
    return { status: 204 };
  });
}

function changeNote(stateDir, id, change) {
  return changeBook(stateDir, (book) => {
    const index = book.notes.findIndex((note) => note.id === id);
    if (index === -1) return notFound();
    book.notes[index] = { ...change(book.notes[index]), id };
    return { status: 200, body: book.notes[index] };
  });
}

/** The first problem of a note, or undefined if it is valid. */
function validate(body, { isPartial }) {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'expected an object';
  const unknown = Object.keys(body).find((key) => key !== 'title' && key !== 'text');
  if (unknown !== undefined) return 'a note has a title and a text, nothing else';
  if (!isPartial && body.title === undefined) return 'title is missing';
  if (body.title !== undefined && !isText(body.title, 1, MAX_TITLE_CHARACTERS)) {
    return `title must be text of 1 to ${MAX_TITLE_CHARACTERS} characters`;
  }
  if (body.text !== undefined && !isText(body.text, 0, MAX_TEXT_CHARACTERS)) {
    return `text must be text of at most ${MAX_TEXT_CHARACTERS} characters`;
  }
}

function isText(value, min, max) {
  return typeof value === 'string' && value.length >= min && value.length <= max;
}

function inOrder(notes) {
  return config['notes/order'] === 'newest_first' ? notes.toReversed() : notes;
}

function matches(note, wanted) {
  return `${note.title}\n${note.text}`.toLowerCase().includes(wanted);
}

function notFound() {
  return { status: 404, body: { detail: 'there is no such note' } };
}

function reject(detail) {
  return { status: 422, body: { detail } };
}

async function readBook(stateDir) {
  try {
    return JSON.parse(await readFile(join(stateDir, 'notes.json'), 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return { next: 1, notes: [] };
    throw error;
  }
}

// Changes run one after the other: two at once would overwrite each other.
let lastChange = Promise.resolve();

function changeBook(stateDir, change) {
  const changed = lastChange.then(async () => {
    const book = await readBook(stateDir);
    const response = change(book);
    if (response.status < 300) await writeBook(stateDir, book);
    return response;
  });
  lastChange = changed.catch(() => {});
  return changed;
}

/** Writes a temporary file and renames it, so that a crash never leaves half a file. */
async function writeBook(stateDir, book) {
  await mkdir(stateDir, { recursive: true });
  const path = join(stateDir, 'notes.json');
  await writeFile(`${path}.new`, `${JSON.stringify(book, null, 2)}\n`);
  await rename(`${path}.new`, path);
}
