"""The table of open tabs."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Presence',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tab', models.CharField(max_length=36, unique=True)),
                ('place', models.TextField()),
                ('doing', models.CharField(choices=[('publishing', 'Publishing'), ('rolling_back', 'Rolling Back'), ('reviewing', 'Reviewing'), ('viewing', 'Viewing')], max_length=16)),
                ('version_number', models.BigIntegerField(null=True)),
                ('is_idle', models.BooleanField(default=False)),
                ('seen_at', models.DateTimeField()),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'default_permissions': (),
            },
        ),
    ]
