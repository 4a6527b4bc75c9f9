import { Runner, LlmAgent, SessionService } from 'turncore/sessions';
import * as T from 'turncore';
const { Tool } = T;
const N = +(process.argv[2] ?? 3000);
const parameters = { type:'object', properties:{ country:{type:'string'} }, required:['country'] };
let tool;
const mk = await import('turncore');
tool = Tool.define ? Tool.define({}) : new Tool({ name:'capital_of', description:'Returns the capital of a country.', parameters: parameters, run: (args, ctx)=>{ ctx.state.last_country = args.country; return {result:'Paris'}; } });
const model = (request) => {
  const last = request.contents.at(-1);
  const asked = last.parts.some((p)=>p.functionResponse!==undefined);
  return { content: { role:'model', parts:[ asked ? { text:'The capital of France is Paris.' } : { functionCall:{ name:'capital_of', args:{country:'France'} } } ] }, turnComplete:true };
};
const agent = new LlmAgent({ name:'root', description:'Answers geography questions.', instruction:'Answer briefly.', model, tools:[tool] });
const sessionService = new SessionService();
const runner = new Runner({ appName:'bench', agent, sessionService });
const key = (sessionId)=>({appName:'bench', userId:'u', sessionId});
async function turn(id){ let n=0; for await (const e of runner.runAsync({userId:'u', sessionId:id, newMessage:"What's the capital of France?"})) n++; if(n!==3) throw new Error(n); }
async function one(i){ const id='s'+i; await sessionService.createSession(key(id)); await turn(id); await sessionService.deleteSession(key(id)); }
const stat=(a)=>{a.sort((x,y)=>x-y); return a[a.length>>1].toFixed(1)};
for(let i=0;i<1500;i++) await one(i);
let a=[]; for(let i=0;i<N;i++){const t=performance.now(); await one(i); a.push((performance.now()-t)*1000);} console.log('create+turn+delete p50', stat(a));
async function at(len, samples){ const b=[]; await sessionService.createSession(key('L'+len)); for(let i=0;i<len;i++) await turn('L'+len); for(let i=0;i<samples;i++){const t=performance.now(); await turn('L'+len); b.push((performance.now()-t)*1000);} console.log('turn after', len, stat(b)); }
await at(0,50); await at(50,20); await at(500,50); if(process.argv[3]) await at(5000,100);
