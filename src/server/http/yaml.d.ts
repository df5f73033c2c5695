/** The build reads YAML files (build/yaml.js). */
declare module "*.yaml" {
  const data: Record<string, unknown>;
  export default data;
}
