import "reflect-metadata";
import { HttpModule, HttpService } from "@nestjs/axios";
import { Controller, Get, Inject, Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { firstValueFrom } from "rxjs";

@Controller()
class PriceController {
  constructor(@Inject(HttpService) private readonly http: HttpService) {}

  @Get("service")
  async service(): Promise<string> {
    return (await firstValueFrom(this.http.get("http://nowhere.test/service"))).data;
  }

  @Get("fetch")
  async fetched(): Promise<string> {
    return (await fetch("http://nowhere.test/fetch")).text();
  }
}

@Module({ imports: [HttpModule], controllers: [PriceController] })
class AppModule {}

const app = await NestFactory.create(AppModule);
await app.listen(0, "127.0.0.1");
console.log(`Local: ${await app.getUrl()}`);
