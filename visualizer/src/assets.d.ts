declare module '*?worker' {
  const StartedWorker: new () => Worker;
  export default StartedWorker;
}
declare module '*?url' {
  const address: string;
  export default address;
}
