/** The address of the WebSocket, beside this page: every url of the page is relative, because its path holds the page id. */
const socket = new WebSocket(new URL('socket', location.href));
const main = document.getElementById('app');
const show = (text: string): void => main?.replaceChildren(text);

show('connecting …');
socket.addEventListener('open', () => {
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'fleet/status' }));
});
socket.addEventListener('message', ({ data }) => show(String(data)));
socket.addEventListener('close', ({ reason }) => show(`the daemon is not connected: ${reason}`));
