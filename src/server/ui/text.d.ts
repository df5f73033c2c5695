/** The build reads files as text (build/text.js). */
declare module "*?text" {
  const text: string;
  export default text;
}
