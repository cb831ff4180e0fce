const boatsPath = '/apis/controller-mirror.example.com/v1/namespaces/controller-mirror/boats';

const boats = new Map();

const list = await (await fetch(boatsPath)).json();
for (const boat of list.items) boats.set(boat.metadata.uid, boat);

const answer = await fetch(`${boatsPath}?watch=1&resourceVersion=${list.metadata.resourceVersion}`);
console.log('watching', answer.status);
for await (const { type, object } of events(answer)) {
  if (type === 'DELETED') boats.delete(object.metadata.uid);
  else boats.set(object.metadata.uid, object);
  console.log(type, object.metadata.name, '- now', boats.size);
}

// A chunk is not a line: what follows the last line break waits for the next chunk.
async function* events(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (const line of lines) yield JSON.parse(line);
  }
}
