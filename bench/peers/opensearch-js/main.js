// What opensearch-js's helpers.bulk costs: reads a file of bulk lines, an action and a document each, and stores them.
const fs = require('fs');
const readline = require('readline');
const { Client } = require('@opensearch-project/opensearch');

const [address, path] = process.argv.slice(2);

async function* pairs() {
  let action = null;
  for await (const line of readline.createInterface({ input: fs.createReadStream(path) })) {
    if (action === null) {
      action = JSON.parse(line).create;
    } else {
      yield { action, source: line };
      action = null;
    }
  }
}

new Client({ node: address }).helpers.bulk({
  datasource: pairs(),
  onDocument: ({ action, source }) => [{ create: action }, source],
}).then((done) => {
  if (done.failed) {
    console.error(done);
    process.exit(1);
  }
});
