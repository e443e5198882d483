// Writes the pages of docs/reference that follow from the code: descriptor, manifest,
// configuration, CLI and conformance clauses, and the table of the host's routes. Reads dist/, so build first. With --check it compares, and exits with 1 when a page in
// the repository differs.
import { readFileSync, writeFileSync } from 'node:fs';
import { COMMANDS } from '../dist/core/cli/commands.js';
import { createProgram, loadCommand } from '../dist/core/cli/program.js';
import {
  SETTINGS,
  settingFlag,
  settingKey,
  settingVariable,
} from '../dist/core/config/settings.js';
import {
  CALL_MEMBERS,
  ENTRY_MEMBERS,
  REJECTION_MEMBERS,
  STREAM_MEMBERS,
} from '../dist/core/contract/call-record.js';
import { readDescription } from '../dist/core/contract/described.js';
import { LISTED_ROUTES } from '../dist/core/http/routes/host-route-list.js';
import { STEP_GUIDES } from '../dist/core/steps.js';
import { ADAPTER_CLAUSES } from '../dist/core/testkit/adapter-clauses.js';
import { AUTHENTICATION } from '../dist/core/testkit/clauses/authentication.js';
import { IMPORTING } from '../dist/core/testkit/clauses/importing.js';
import { SIGNING } from '../dist/core/testkit/clauses/signing.js';
import { SURFACE_CLAUSES } from '../dist/core/testkit/clauses/surfaces.js';
import { code, escapeText, renderSchema } from './schema-tables.mjs';

const FOLDER = 'docs/reference';
const NOTICE = '<!-- Written by `node tools/write-reference.mjs`. Edit its sources instead. -->';
const MAX_COLUMNS = 100;

const pages = {
  'descriptor.md': renderPage(
    'Descriptor',
    `A descriptor is a YAML or JSON file in the modules folder. It mounts one module. A key that is
    not listed here is an error. The schema is \`modgate/schemas/descriptor.schema.json\`. A commented
    example with every option is [modules.d/crm.yaml](../../modules.d/crm.yaml), and
    [Configuration](../operate/configuration.md) explains the options by task.`,
    renderSchema(readSchema('descriptor'), { 'manifest.schema.json': '[manifest](manifest.md)' }),
  ),
  'manifest.md': renderPage(
    'Manifest',
    `A manifest is what the author of a module declares, in YAML or JSON. A key that is not listed
    here is an error. The schema is \`modgate/schemas/manifest.schema.json\`.
    [Your first module](../operate/first-module.md) writes one from start to end. The rules that a
    schema cannot express are in [Routes of a module](routes.md#routes-of-a-module).`,
    renderSchema(readSchema('manifest')),
  ),
  'configuration.md': renderPage(
    'Configuration',
    `Every setting can be a flag, an environment variable, or a key of the file that \`--config\`
    names. A flag wins over a variable, and a variable wins over the file.
    [Configuration](../operate/configuration.md) explains how to use them.`,
    renderSettings(),
  ),
  'call-record.md': renderPage(
    'Call record',
    `A record of a call is an entry of \`GET /calls\` and of \`GET /explain?request_id=\`. The log
    line of a request has the members that are marked, and \`bytes_in\` and \`bytes_out\`. [Log and
    calls](../operate/observability.md) explains how to use them.`,
    renderCallRecord(),
  ),
  'clauses.md': renderPage(
    'Conformance clauses',
    `\`modgate test-plugin\` checks a plugin against these clauses. Their ids are stable. [Test
    kit](../extend/testkit.md) explains how to run them.`,
    `${renderClauses('adapter', ADAPTER_CLAUSES)}\n\n${renderClauses('authenticator', AUTHENTICATION)}\n\n${renderClauses('surface', SURFACE_CLAUSES)}\n\n${renderClauses('signer', SIGNING)}\n\n${renderClauses('importer', IMPORTING)}`,
  ),
  'cli.md': renderPage(
    'Command line',
    `\`modgate COMMAND --help\` prints the same. [Commands](../operate/commands.md) explains when to
    use which, and describes what they print.`,
    await renderCommands(),
  ),
};

const ROUTES = 'routes.md';
const RIGHTS = {
  public: 'none',
  authenticated: 'any actor',
  surface: 'any actor, through a surface',
};
const ROUTE_TABLE = /\| route \| scope \| answer \|\n[\s\S]*?\n\n/;
const MEMBER_TABLES = /## Members of lists\n[\s\S]*?(?=\n## )/;
const resources = await Promise.all(
  LISTED_ROUTES.map(async ({ load, ...route }) => ({ ...route, ...(await load()) })),
);
pages[ROUTES] = readFileSync(`${FOLDER}/${ROUTES}`, 'utf8')
  .replace(ROUTE_TABLE, () => `${renderRoutes()}\n\n`)
  .replace(MEMBER_TABLES, renderListings);

const isCheck = process.argv.includes('--check');
for (const [name, text] of Object.entries(pages)) {
  const path = `${FOLDER}/${name}`;
  if (!isCheck) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(`${path} differs from the code: run node tools/write-reference.mjs`);
    process.exitCode = 1;
  }
}

function readSchema(name) {
  return JSON.parse(readFileSync(`dist/core/schemas/${name}.schema.json`, 'utf8'));
}

function renderPage(title, introduction, body) {
  return `# ${title}\n\n${NOTICE}\n\n${wrap(introduction)}\n\n${body}\n`;
}

function renderRoutes() {
  const rows = resources.map(({ name, right, isOpenOnLoopback, text, query, listing }) => {
    const parameters = Object.keys(query).map((parameter) => `${parameter}=`);
    const search = parameters.length === 0 ? '' : `?${parameters.join('&')}`;
    const route = name.replace(/:(\w+)/g, '{$1}') + search;
    const open = isOpenOnLoopback ? '; none on [loopback](#open-on-loopback)' : '';
    const shape = isDescribed(listing) ? `\`${outline(listing.struct)}\`: ` : '';
    return `| \`${route}\` | ${describeRight(right)}${open} | ${shape}${text} |`;
  });
  return ['| route | scope | answer |', '|---|---|---|', ...rows].join('\n');
}

/** The names of the members: `{fleet, hosts:[{id, state}]}`. */
function outline({ type, schema }) {
  if (type === 'array') return `[${outline(schema)}]`;
  if (type !== 'type') return '';
  const members = Object.entries(schema).map(([name, member]) => {
    const inner = outline(member);
    return inner === '' || inner === '[]' ? name : `${name}:${inner}`;
  });
  return `{${members.join(', ')}}`;
}

function renderListings() {
  const sections = resources.flatMap(({ name, listing }) => {
    if (!isDescribed(listing)) return [];
    const rows = listMembers(listing.struct).map(([path, text]) => `| \`${path}\` | ${text} |`);
    return [`### Members of ${name}`, '', '| member | meaning |', '|---|---|', ...rows, ''];
  });
  return ['## Members of lists', '', ...sections].join('\n');
}

/** Whether its members say what they mean; others are described by hand. */
function isDescribed(listing) {
  return listing !== null && listMembers(listing.struct).length > 0;
}

function listMembers({ type, schema }, path = '') {
  if (type === 'array') return listMembers(schema, `${path}[]`);
  if (type !== 'type') return [];
  return Object.entries(schema).flatMap(([name, member]) => {
    const place = path === '' ? name : `${path}.${name}`;
    const { description } = readDescription(member).keywords;
    const own = description === undefined ? [] : [[place, description]];
    return [...own, ...listMembers(member, place)];
  });
}

function describeRight({ kind, scope, isForUsers }) {
  if (kind !== 'scope') return RIGHTS[kind];
  return isForUsers ? `\`${scope}\`, users only` : `\`${scope}\``;
}

function renderCallRecord() {
  return [
    renderMembers('Every call', { ...CALL_MEMBERS, ...ENTRY_MEMBERS }),
    renderMembers('A body that was streamed, and a WebSocket', STREAM_MEMBERS),
    renderMembers('A request that the host rejected', REJECTION_MEMBERS),
    renderSteps(),
  ].join('\n\n');
}

function renderSteps() {
  const rows = Object.entries(STEP_GUIDES).map(([name, { checks, reasons = {} }]) => {
    const words = Object.keys(reasons).map((word) => `\`${word}\``);
    return `| \`${name}\` | ${checks} | ${words.join(' ')} |`;
  });
  return ['## Steps', '', '| step | what it checks | reasons |', '|---|---|---|', ...rows].join(
    '\n',
  );
}

function renderMembers(title, members) {
  const rows = Object.entries(members).map(
    ([name, { isLogged, isFilter, text }]) =>
      `| \`${name}\` | ${text} | ${isLogged || members === REJECTION_MEMBERS ? 'yes' : ''} | ${isFilter ? 'yes' : ''} |`,
  );
  return [
    `## ${title}`,
    '',
    '| member | meaning | in the log line | filter of `GET /calls` |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function renderClauses(subject, clauses) {
  const rows = clauses.map(({ id, title }) => `| \`${id}\` | ${escapeText(title)} |`);
  return [
    `| Clause | ${/^[aeiou]/.test(subject) ? 'An' : 'A'} ${subject} … |`,
    '|---|---|',
    ...rows,
  ].join('\n');
}

function renderSettings() {
  const rows = Object.entries(SETTINGS).map(([name, { kind, default: fallback, unit, help }]) => {
    const value =
      fallback === undefined ? '' : `${code(fallback)}${unit === undefined ? '' : ` ${unit}`}`;
    const names = [settingFlag(name), settingVariable(name), settingKey(name)].map((text) =>
      code(text),
    );
    return `| ${names.join(' | ')} | ${escapeText(kind.expected)} | ${value} | ${escapeText(help)} |`;
  });
  const head = '| Flag | Variable | Key in the file | Value | Default | Description |';
  return [head, '|---|---|---|---|---|---|', ...rows].join('\n');
}

async function renderCommands() {
  const index = COMMANDS.map(
    ({ name, summary }) => `| [\`${name}\`](#modgate-${name}) | ${escapeText(summary)} |`,
  );
  let help = '';
  const writeOut = (text) => {
    help += text;
  };
  const program = createProgram({ writeOut });
  const sections = [];
  for (const { name } of COMMANDS) {
    const command = await loadCommand(program, name);
    sections.push(renderCommand(command, '##'));
    sections.push(...command.commands.map((action) => renderCommand(action, '###')));
  }
  return [['| Command | Description |', '|---|---|', ...index].join('\n'), ...sections].join(
    '\n\n',
  );

  function renderCommand(command, heading) {
    help = '';
    command.outputHelp();
    const notes = help.slice(command.helpInformation().length).trim();
    const words = command.parent === program ? ['modgate'] : ['modgate', command.parent.name()];
    const usage = [...words, command.name(), command.usage()].join(' ');
    const actions = command.commands.map((action) =>
      renderRow(action.name(), action.summary(), undefined, undefined),
    );
    const table = [
      ...actions,
      ...command.registeredArguments.map(describeArgument),
      ...command.options.map(describeOption),
    ];
    const head = actions.length > 0 ? 'Action' : 'Argument or option';
    return [
      `${heading} \`${[...words, command.name()].join(' ')}\``,
      wrap(sentence(command.description())),
      `\`\`\`text\n${usage}\n\`\`\``,
      ...(table.length === 0
        ? []
        : [[`| ${head} | Default | Description |`, '|---|---|---|', ...table].join('\n')]),
      ...(notes === '' ? [] : [`\`\`\`text\n${notes}\n\`\`\``]),
    ].join('\n\n');
  }
}

function describeArgument(argument) {
  const { description, defaultValue, argChoices, required } = argument;
  const name = required ? `<${argument.name()}>` : `[${argument.name()}]`;
  return renderRow(name, description, defaultValue, argChoices);
}

function describeOption({ flags, description, defaultValue, argChoices }) {
  return renderRow(flags, description, defaultValue, argChoices);
}

function renderRow(name, description, fallback, choices) {
  // Most defaults are in the description, where `--help` shows them.
  const [, stated = ''] = /\s*\((?:[^()]*; )?default: ([^()]*)\)$/.exec(description) ?? [];
  const text = description.replace(/;? ?default: [^()]*(?=\)$)/, '').replace(/\s*\(\)$/, '');
  const isGiven = fallback !== undefined && !(Array.isArray(fallback) && fallback.length === 0);
  const value = isGiven ? code(String(fallback)) : stated === '' ? '' : code(stated);
  const words =
    choices === undefined ? '' : `: ${choices.map((choice) => code(choice)).join(', ')}`;
  return `| ${code(name)} | ${value} | ${escapeText(text)}${words} |`;
}

function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function wrap(text) {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1);
    if (line !== '' && line.length + 1 + word.length > MAX_COLUMNS) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join('\n');
}
