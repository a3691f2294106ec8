import "reflect-metadata";
import { HttpModule, HttpService } from "@nestjs/axios";
import {
  Body,
  type CallHandler,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Inject,
  Injectable,
  Module,
  type NestInterceptor,
  Post,
  UseGuards,
  UseInterceptors,
} from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { from, map, mergeMap, type Observable } from "rxjs";

type Query = { query: { who: string } };

/** Ask a third party on behalf of whoever asks this application. */
const ask = async (kind: string, who: string): Promise<string> =>
  (await fetch(`http://nowhere.test/${kind}?who=${who}`)).text();

@Injectable()
class Guard implements CanActivate {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    return Boolean(await ask("guard", context.switchToHttp().getRequest<Query>().query.who));
  }
}

@Injectable()
class Interceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { who } = context.switchToHttp().getRequest<Query>().query;
    return from(ask("before", who)).pipe(
      mergeMap(() => next.handle()),
      mergeMap(async (said) => `${said}, ${await ask("behind", who)}`),
    );
  }
}

@Controller("kinds")
@UseGuards(Guard)
@UseInterceptors(Interceptor)
class KindsController {
  constructor(@Inject(HttpService) private readonly http: HttpService) {}

  @Post()
  handle(@Body() { who }: { who: string }): Observable<string> {
    return this.http.get(`http://nowhere.test/observable?who=${who}`).pipe(map(({ data }) => data));
  }
}

@Module({ imports: [HttpModule], controllers: [KindsController] })
class AppModule {}

const app = await NestFactory.create(AppModule);
await app.listen(0, "127.0.0.1");
console.log(`Local: ${await app.getUrl()}`);
