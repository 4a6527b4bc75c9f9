/**
 * Modules that are not trusted: they count what their code does, and end when they have used their fuel.
 * docs/engines.md tells what is counted.
 *
 * @packageDocumentation
 */
export { type Fuel, FuelError, meteredModule } from '../metering/module.js';
export { meter, MeteringError } from '../metering/rewrite.js';
