/** Without a listener Node answers SIGUSR1 with a debugger port, by which every user of this machine could run code as this one. */
process.on('SIGUSR1', () => undefined);
