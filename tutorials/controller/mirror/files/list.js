const boatsPath = '/apis/controller-mirror.example.com/v1/namespaces/controller-mirror/boats';

const boats = new Map();

const list = await (await fetch(boatsPath)).json();
for (const boat of list.items) boats.set(boat.metadata.uid, boat);
console.log(boats.size, 'boats at revision', list.metadata.resourceVersion);
