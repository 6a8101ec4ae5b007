// What opensearch-js's helpers.bulk costs: reads a file of bulk lines, an action and a document each, and stores them.
const fs = require('fs');
const { Client } = require('@opensearch-project/opensearch');

const [address, path] = process.argv.slice(2);
const lines = fs.readFileSync(path, 'utf8').split('\n');
const pairs = [];
for (let n = 0; n + 1 < lines.length; n += 2) pairs.push([lines[n], lines[n + 1]]);

new Client({ node: address }).helpers.bulk({
  datasource: pairs,
  onDocument: ([action, source]) => [JSON.parse(action), source],
}).then((done) => {
  if (done.failed) {
    console.error(done);
    process.exit(1);
  }
});
