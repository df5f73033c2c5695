/** The build reads files as text (build/imports.js). */
declare module "*?text" {
  const text: string;
  export default text;
}
