// A module of kind `local`. Its data are the same after each start; changes are kept in memory only.
const HOUR_MS = 3_600_000;
const FIRST_ORDER_AT = Date.UTC(2026, 0, 5, 8);
// The last one is not valid markup: a console shows it as the text that it is.
const CUSTOMERS = [
  'Ada Byron',
  'Alan Turing',
  'Edsger Dijkstra',
  'Grace Hopper',
  'Hedy Lamarr',
  'Mary Jackson',
  '<b>Smith & Sons</i>',
];
const THINGS = ['chair', 'clock', 'desk', 'lamp', 'mug', 'rug', 'shelf', 'table', 'tray', 'vase'];
const COLORS = ['red', 'green', 'blue', 'black', 'white', 'grey', 'brown', 'pink'];
const SIZES = ['s', 'm', 'l'];

const products = THINGS.flatMap((thing) =>
  COLORS.flatMap((color) => SIZES.map((size) => `${thing}-${color}-${size}`)),
).map(createProduct);
const orders = Array.from({ length: 360 }, (_, index) => createPastOrder(index + 1)).reverse();

/** The defaults of the manifest, until the host delivers the values. */
let config = {
  'shop/open': true,
  'shop/discount': 0.05,
  'shop/thanks': 'Thank you for your order.',
  'shop/shipping': { standard: 4.9, express: 12.5 },
};

/** Called at the start and after each configuration write. */
export async function configure({ values }) {
  config = values;
}

const ROUTES = {
  'GET /orders': ({ query }) => ok(selectOrders(query.get('status'))),
  'GET /orders/{id}': ({ pathParams }) => withOrder(pathParams.id, ok),
  'POST /orders': ({ body }) => createOrder(body),
  'GET /products': () => ok(products),
};
const ENTITIES = { orders, products };
const ACTIONS = {
  sum_up: ({ status, since }) => sumUp(selectOrders(status, since)),
  ship: ({ order, express }) => withOrder(order, (found) => ship(found, express)),
  cancel_open: ({ reason }) => cancelOpen(reason),
  change_prices: ({ percent }) => changePrices(percent),
};

export default async function answer(operation) {
  const { kind, method, declaredPath } = operation;
  if (kind === 'admin_list') return listPage(operation);
  if (kind === 'admin_action') return ACTIONS[operation.action](operation.input);
  return ROUTES[`${method} ${declaredPath}`](operation);
}

/** One page for the console; the cursor says how many rows came before. */
function listPage({ entity, limit, cursor }) {
  const start = Number(cursor ?? 0);
  const end = start + limit;
  const rows = ENTITIES[entity];
  const next_cursor = end < rows.length ? String(end) : null;
  return ok({ records: rows.slice(start, end), next_cursor });
}

function createOrder({ customer, product: wanted, quantity = 1, express = false }) {
  if (!config['shop/open']) return fail(409, 'the shop is closed');
  const product = products.find(({ id }) => id === wanted);
  if (!product) return fail(422, 'there is no such product');
  const shipping = config['shop/shipping'][express ? 'express' : 'standard'] ?? 0;
  const total = toCents(product.price * quantity * (1 - config['shop/discount']) + shipping);
  const items = [{ product: product.id, quantity }];
  const placed_at = new Date().toISOString();
  const id = orders[0].id + 1;
  orders.unshift({
    id,
    customer,
    status: 'open',
    total,
    express,
    placed_at,
    shipped_at: null,
    items,
  });
  return { status: 201, body: { ...orders[0], message: config['shop/thanks'] } };
}

function selectOrders(status, since = FIRST_ORDER_AT) {
  const start = new Date(since);
  return orders.filter(
    (order) => (!status || order.status === status) && new Date(order.placed_at) >= start,
  );
}

function sumUp(found) {
  return ok({
    orders: found.length,
    total: toCents(found.reduce((sum, { total }) => sum + total, 0)),
  });
}

function ship(order, express = order.express) {
  if (order.status !== 'open') return fail(409, `the order is ${order.status}`);
  return ok(
    Object.assign(order, { status: 'shipped', express, shipped_at: new Date().toISOString() }),
  );
}

function cancelOpen(reason) {
  const open = selectOrders('open');
  for (const order of open) Object.assign(order, { status: 'cancelled', reason });
  return ok({ cancelled: open.length });
}

function changePrices(percent) {
  for (const one of products) one.price = toCents(one.price * (1 + percent / 100));
  return ok({ changed: products.length });
}

function withOrder(id, answerWith) {
  const order = orders.find((one) => String(one.id) === String(id));
  return order ? answerWith(order) : fail(404, 'there is no such order');
}

function createProduct(id, index) {
  const name = id.replace('-', ', ').replace(/-(\w)$/, (_, size) => `, size ${size.toUpperCase()}`);
  return { id, name, price: 4.5 + ((index * 37) % 90), stock: (index * 53) % 140 };
}

function createPastOrder(id) {
  const product = products[(id * 29) % products.length];
  const quantity = 1 + (id % 4);
  const placedAt = FIRST_ORDER_AT + id * 5 * HOUR_MS;
  const status = id % 11 === 0 ? 'cancelled' : id > 320 ? 'open' : 'shipped';
  return {
    id,
    customer: CUSTOMERS[(id * 5 + (id >> 3)) % CUSTOMERS.length],
    status,
    total: product.price * quantity,
    express: id % 5 === 0,
    placed_at: new Date(placedAt).toISOString(),
    shipped_at: status === 'shipped' ? new Date(placedAt + 26 * HOUR_MS).toISOString() : null,
    items: [{ product: product.id, quantity }],
  };
}

function toCents(amount) {
  return Math.round(amount * 100) / 100;
}

function ok(body) {
  return { status: 200, body };
}

function fail(status, detail) {
  return { status, body: { detail } };
}
